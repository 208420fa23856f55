//! Where the persons come from: names, cities and schools that go together. Every given name stands
//! in one region only, so that a given and a family name are never paired twice. Phone numbers are
//! from ranges that are kept for fiction or given to nobody.

/// A part of the world. The lists are written as `one|other|third`.
#[derive(Debug)]
pub struct Region {
    pub given: &'static str,
    pub family: &'static str,
    pub cities: &'static str,
    pub schools: &'static str,
    /// `#` stands for any digit.
    pub phone: &'static str,
}

/// How many given and how many family names each region has.
pub const NAMES: usize = 16;

pub static REGIONS: [Region; 16] = [
    Region {
        given: "Amara|Chinedu|Ngozi|Tunde|Adaeze|Emeka|Folake|Ifeoma|Kelechi|Obinna|Temitope|Yetunde|Kwame|Akosua|Kofi|Efua",
        family: "Okafor|Adeyemi|Nwosu|Balogun|Eze|Okonkwo|Adebayo|Mensah|Owusu|Boateng|Asante|Bello|Oyelaran|Umeh|Danso|Akinola",
        cities: "Lagos, Nigeria|Abuja, Nigeria|Accra, Ghana|Kumasi, Ghana",
        schools: "Eko Institute of Technology|Ashanti Hill University|University of the Lower \
            Niger",
        phone: "+234 555 01# ####",
    },
    Region {
        given: "Wanjiru|Kamau|Achieng|Otieno|Njeri|Mwangi|Zawadi|Baraka|Amina|Juma|Makena|Kiprono|Selam|Dawit|Hiwot|Tesfaye",
        family: "Kimani|Odhiambo|Mutua|Njoroge|Wekesa|Chebet|Kariuki|Omondi|Abebe|Tadesse|Bekele|Haile|Ochieng|Maina|Kiplagat|Wambui",
        cities: "Nairobi, Kenya|Mombasa, Kenya|Kampala, Uganda|Addis Ababa, Ethiopia",
        schools: "Rift Valley Technical University|Lake Naivasha University|Entoto College of \
            Science",
        phone: "+254 555 01# ###",
    },
    Region {
        given: "Aarav|Priya|Rohan|Ananya|Vikram|Kavya|Arjun|Meera|Ishaan|Divya|Sanjay|Lakshmi|Farhan|Ayesha|Nadia|Imran",
        family: "Sharma|Iyer|Patel|Reddy|Banerjee|Nair|Kulkarni|Chaudhry|Gupta|Menon|Desai|Rahman|Siddiqui|Bose|Joshi|Fernando",
        cities: "Bengaluru, India|Mumbai, India|Hyderabad, India|Dhaka, Bangladesh|Lahore, \
            Pakistan|Colombo, Sri Lanka",
        schools: "Deccan Institute of Technology|Saraswati University|Malabar College of \
            Engineering",
        phone: "+91 555 01# ####",
    },
    Region {
        given: "Wei|Xiuying|Jian|Meiling|Haoran|Yuxin|Zihan|Lihua|Ming|Xiaoyan|Jun|Qing|Yichen|Ruoxi|Bowen|Shufen",
        family: "Zhang|Wang|Li|Liu|Chen|Yang|Huang|Zhao|Wu|Zhou|Xu|Lin|Hsieh|Guo|Tang|Deng",
        cities: "Shanghai, China|Shenzhen, China|Taipei, Taiwan|Hong Kong|Singapore",
        schools: "Pearl Estuary University|Lotus Lake Polytechnic|East Strait University",
        phone: "+86 100 0000 ####",
    },
    Region {
        given: "Haruto|Yui|Sota|Aoi|Ren|Hina|Takumi|Sakura|Kenji|Misaki|Daiki|Naoko|Ryo|Emi|Hiroshi|Ayaka",
        family: "Sato|Suzuki|Takahashi|Tanaka|Watanabe|Ito|Yamamoto|Nakamura|Kobayashi|Kato|Yoshida|Matsumoto|Inoue|Kimura|Hayashi|Shimizu",
        cities: "Tokyo, Japan|Osaka, Japan|Nagoya, Japan|Fukuoka, Japan",
        schools: "Musashino Coast University|Inland Sea Institute of Technology|Aoba Women's \
            University",
        phone: "+81 90 0000 ####",
    },
    Region {
        given: "Min-jun|Seo-yeon|Ji-ho|Ha-eun|Do-yun|Ji-woo|Hyun-woo|Soo-ah|Tae-yang|Eun-ji|Sung-min|Yuna|Joon-ho|Mi-rae|Dong-hyun|Bo-ra",
        family: "Kim|Lee|Park|Choi|Jung|Kang|Cho|Yoon|Jang|Lim|Han|Shin|Seo|Kwon|Hwang|Ahn",
        cities: "Seoul, South Korea|Busan, South Korea|Daejeon, South Korea",
        schools: "Han River University|Hallim Institute of Science|Dongbaek University",
        phone: "+82 10 0000 ####",
    },
    Region {
        given: "Minh|Linh|Thanh|Huong|Duc|Mai|Anong|Somchai|Siti|Budi|Dewi|Rizal|Maricel|Jomar|Ratna|Putri",
        family: "Nguyễn|Trần|Phạm|Hoàng|Võ|Đặng|Santos|Reyes|Bautista|Dela \
            Cruz|Wijaya|Santoso|Hartono|Suwannarat|Chaiyasit|Lestari",
        cities: "Ho Chi Minh City, Vietnam|Hanoi, Vietnam|Bangkok, Thailand|Manila, \
            Philippines|Jakarta, Indonesia",
        schools: "Red River University of Technology|Sampaguita State University|Universitas \
            Khatulistiwa",
        phone: "+63 555 01# ####",
    },
    Region {
        given: "Lukas|Anneliese|Jonas|Lena|Felix|Katharina|Maximilian|Jürgen|Sabine|Matthias|Greta|Tobias|Heike|Stefan|Johanna|Moritz",
        family: "Müller|Schmidt|Schneider|Fischer|Weber|Wagner|Becker|Hoffmann|Schäfer|Koch|Bauer|Richter|Klein|Wolf|Schröder|Zimmermann",
        cities: "Berlin, Germany|Munich, Germany|Hamburg, Germany|Vienna, Austria|Zurich, \
            Switzerland",
        schools: "Technische Hochschule Elbtal|Universität am Bodensee|Hochschule Nordmark",
        phone: "+49 30 23125 ###",
    },
    Region {
        given: "Camille|Théo|Chloé|Hugo|Manon|Antoine|Élodie|Mathieu|Léa|Julien|Aurélie|Baptiste|Margaux|Étienne|Noémie|Guillaume",
        family: "Martin|Bernard|Dubois|Lefèvre|Moreau|Laurent|Girard|Rousseau|Fontaine|Mercier|Dumas|Garnier|Benoît|Dumont|Peeters|Claes",
        cities: "Paris, France|Lyon, France|Nantes, France|Brussels, Belgium|Montréal, Canada",
        schools: "École des Deux Rives|Université de la Côte Vermeille|Institut Polytechnique du \
            Vexin",
        phone: "+33 6 39 98 ## ##",
    },
    Region {
        given: "Lucía|Mateo|Sofía|Santiago|Valentina|Diego|Camila|Javier|Ximena|Alejandro|Isabel|Andrés|Paloma|Rodrigo|Fernanda|Iñigo",
        family: "García|Fernández|Rodríguez|López|Martínez|González|Ramírez|Torres|Flores|Vargas|Castillo|Ortega|Núñez|Quispe|Peña|Salazar",
        cities: "Madrid, Spain|Valencia, Spain|Mexico City, Mexico|Bogotá, Colombia|Lima, \
            Peru|Buenos Aires, Argentina",
        schools: "Universidad del Altiplano Sur|Instituto Técnico de la Ribera|Universidad Nueva \
            Andaluza",
        phone: "+52 555 01# ####",
    },
    Region {
        given: "João|Ana \
            Beatriz|Gabriel|Mariana|Thiago|Larissa|Rafael|Marisa|Gustavo|Juliana|Caio|Inês|Vinícius|Luiza|Bruno|Letícia",
        family: "Silva|Oliveira|Souza|Pereira|Costa|Almeida|Ribeiro|Carvalho|Gomes|Araújo|Barbosa|Cardoso|Matos|Moura|Conceição|Nogueira",
        cities: "São Paulo, Brazil|Recife, Brazil|Curitiba, Brazil|Lisbon, Portugal|Porto, \
            Portugal",
        schools: "Universidade da Serra Azul|Instituto Tecnológico do Recôncavo|Universidade \
            Beira-Tejo",
        phone: "+55 11 0555 01##",
    },
    Region {
        given: "Łukasz|Agnieszka|Piotr|Katarzyna|Wojciech|Małgorzata|Oleksandr|Oksana|Dmytro|Iryna|Jakub|Zuzanna|Tomáš|Tereza|Marek|Halyna",
        family: "Nowak|Wójcik|Mazur|Kaczmarek|Zając|Król|Wróbel|Shevchenko|Kovalenko|Bondar|Tkachuk|Melnyk|Kravets|Stępień|Pawlak|Lysenko",
        cities: "Warsaw, Poland|Kraków, Poland|Kyiv, Ukraine|Lviv, Ukraine|Prague, Czechia",
        schools: "Politechnika Nadwiślańska|Podilia National University|University of the Vltava",
        phone: "+48 055 501 ###",
    },
    Region {
        given: "Astrid|Erik|Freja|Lars|Ingrid|Mikkel|Sigrid|Anders|Linnéa|Magnus|Elin|Søren|Aino|Juhani|Maja|Oskar",
        family: "Johansson|Lund|Nilsson|Lindqvist|Berg|Hansen|Olsen|Sørensen|Nygård|Virtanen|Korhonen|Mäkinen|Dahl|Holm|Ekström|Bjørnstad",
        cities: "Stockholm, Sweden|Gothenburg, Sweden|Oslo, Norway|Copenhagen, Denmark|Helsinki, \
            Finland",
        schools: "Mälardal Polytechnic|Universitetet i Vestfjord|Saimaa University of Technology",
        phone: "+46 70 174 06 ##",
    },
    Region {
        given: "Oliver|Charlotte|James|Emily|Liam|Saoirse|Niamh|Callum|Fiona|Declan|Grace|Malik|Jasmine|Ethan|Harriet|Tyrone",
        family: "Smith|O'Connor|Murphy|Taylor|Campbell|Evans|Walsh|Hughes|Washington|Bennett|MacLeod|Brooks|Turner|Doyle|Jenkins|Whitaker",
        cities: "London, United Kingdom|Leeds, United Kingdom|Dublin, Ireland|Chicago, United \
            States|Austin, United States|Toronto, Canada",
        schools: "University of Wexcombe|Harrowgate State University|Lakeshore College",
        phone: "+44 7700 900###",
    },
    Region {
        given: "Omar|Layla|Yusuf|Fatima|Karim|Noor|Samir|Rania|Emre|Zeynep|Deniz|Elif|Reza|Shirin|Darius|Parisa",
        family: "Haddad|Khoury|El-Sayed|Mansour|Benali|Nasser|Saleh|Aziz|Yılmaz|Demir|Kaya|Şahin|Hosseini|Karimi|Rostami|Farahani",
        cities: "Cairo, Egypt|Beirut, Lebanon|Casablanca, Morocco|Dubai, United Arab \
            Emirates|Istanbul, Türkiye|Tehran, Iran",
        schools: "Cedar Heights University|Golden Horn Technical University|University of the \
            Blue Nile Delta",
        phone: "+20 555 01# ####",
    },
    Region {
        given: "Giulia|Marco|Chiara|Lorenzo|Francesca|Alessandro|Eleni|Nikos|Dimitra|Kostas|Ioana|Andrei|Mihaela|Radu|Ivana|Luka",
        family: "Rossi|Ricci|Esposito|Conti|Gallo|Marino|Greco|Lombardi|Alexiou|Georgiou|Ioannou|Popescu|Ionescu|Dumitrescu|Horvat|Babić",
        cities: "Milan, Italy|Turin, Italy|Athens, Greece|Bucharest, Romania|Zagreb, Croatia",
        schools: "Politecnico della Laguna|Aegean Institute of Technology|Universitatea Carpatica",
        phone: "+39 055 501 ####",
    },
];

/// The name in small Latin letters, digits and hyphens, as it stands in an address.
#[must_use]
pub fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for character in name.chars().flat_map(char::to_lowercase) {
        match plain_letter(character) {
            Some(letter) => slug.push(letter),
            None if matches!(character, ' ' | '-') && !slug.ends_with('-') => slug.push('-'),
            None => {}
        }
    }
    slug
}

const fn plain_letter(character: char) -> Option<char> {
    Some(match character {
        'a'..='z' | '0'..='9' => character,
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' | 'ạ' | 'ầ' | 'ặ' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'đ' => 'd',
        'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ễ' => 'e',
        'ì' | 'í' | 'î' | 'ï' | 'ı' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => 'o',
        'ś' | 'š' | 'ş' => 's',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ź' | 'ż' | 'ž' => 'z',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_region_has_its_names() {
        for region in &REGIONS {
            assert_eq!(region.given.split('|').count(), NAMES, "{}", region.given);
            assert_eq!(region.family.split('|').count(), NAMES, "{}", region.family);
        }
    }

    #[test]
    fn no_given_name_stands_twice() {
        let mut seen = HashSet::new();
        for name in REGIONS.iter().flat_map(|region| region.given.split('|')) {
            assert!(seen.insert(slug(name)), "{name}");
        }
    }

    #[test]
    fn every_letter_of_a_name_stands_in_its_slug() {
        for name in REGIONS
            .iter()
            .flat_map(|region| region.given.split('|').chain(region.family.split('|')))
        {
            assert_eq!(slug(name).len(), name.replace('\'', "").chars().count(), "{name}");
        }
    }
}
